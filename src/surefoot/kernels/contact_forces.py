"""Forces of the engine's contacts, summed up by link: one pass over what a step left behind."""

import numba

TERRAIN = -1  # instead of a link: the other side of a contact that is counted


@numba.njit(cache=True)
def by_link(
    frame,
    pos,
    geom,
    address,
    row_force,
    geom_link,
    carriers,
    force_w,
    load,
    pressed_w,
    total,
    carried_w,
    carried,
    cop_w,
):
    """World forces of elliptic contacts between terrain and links, by link.

    The force acts from the first geometry on the second along the first row of the frame; rows two
    and three are the tangents. Contacts without constraint rows (address below 0), and those of
    two links or two pieces of terrain, are left out.

    Args:
        frame: axes of each contact as rows (n, 9).
        pos: points of contact (n, 3), m.
        geom: the two geometries of each contact (n, 2).
        address: first constraint row of each contact (n).
        row_force: forces of the constraint rows.
        geom_link: link of each geometry, TERRAIN for the ground.
        carriers: links that are asked for (c).
        force_w: written (links, 3), N.
        load: written (links), sum of the normal forces, N.
        pressed_w: written (links, 3), sum of normal force times point, N m.
        total: written (3): sums of the vertical force, and of it times x and y.
        carried_w: written (c, 3), force on the links that are asked for, N.
        carried: written (c), their load, N.
        cop_w: written (c, 3), their centre of pressure, m; zero where there is no load.
    """
    force_w[:] = 0.0
    load[:] = 0.0
    pressed_w[:] = 0.0
    total[:] = 0.0
    for i in range(pos.shape[0]):
        row = address[i]
        first, second = geom_link[geom[i, 0]], geom_link[geom[i, 1]]
        if row < 0 or (first == TERRAIN) == (second == TERRAIN):
            continue
        link, sign = (second, 1.0) if first == TERRAIN else (first, -1.0)
        normal = row_force[row]
        load[link] += normal
        vertical = 0.0
        for k in range(3):
            value = sign * (
                normal * frame[i, k]
                + row_force[row + 1] * frame[i, 3 + k]
                + row_force[row + 2] * frame[i, 6 + k]
            )
            force_w[link, k] += value
            pressed_w[link, k] += normal * pos[i, k]
            vertical = value
        total[0] += vertical
        total[1] += vertical * pos[i, 0]
        total[2] += vertical * pos[i, 1]
    for c in range(carriers.shape[0]):
        link = carriers[c]
        carried[c] = load[link]
        for k in range(3):
            carried_w[c, k] = force_w[link, k]
            cop_w[c, k] = pressed_w[link, k] / load[link] if load[link] > 0.0 else 0.0

"""Which links count as standing: schedule and measured load together."""

from numba import njit


@njit(cache=True, nogil=True)
def switch(
    patch_link, normal_w, near, holds, swing, coming, force_w, rising, load, share, carrying, late
):
    """Change `carrying` (c) and `late` (c), the patch of each link or −1; 1 if anything changed.

    A link leaves when no patch of it is scheduled, or when it bears less than the load and is
    `rising` (p): its reference has left the surface of that patch already. It joins when one is and
    it (or one that is `near`, (c, c)) bears the `load`, N, or earlier if it bears it after `share`
    of its swing.
    """
    changed = 0
    for c in range(carrying.shape[0]):
        planned = -1
        for p in range(patch_link.shape[0]):
            if patch_link[p] == c and holds[p]:
                planned = p
        now, waiting = -1, -1
        if planned >= 0:
            n = normal_w[planned]
            if carrying[c] >= 0:
                if not rising[planned] or _bears(c, near, force_w, n, load, True):
                    now = planned
            elif rising[planned]:
                pass
            elif _bears(c, near, force_w, n, load, False):
                now = planned
            else:
                waiting = planned
        elif coming[c] >= 0 and swing[c] > share:
            p = coming[c]
            if carrying[c] == p or _bears(c, near, force_w, normal_w[p], load, True):
                now = p
        if now != carrying[c] or waiting != late[c]:
            changed = 1
        carrying[c], late[c] = now, waiting
    return changed


@njit(cache=True, nogil=True)
def _bears(c, near, force_w, normal, load, alone):
    """Whether a link bears the load, alone or together with those near it."""
    total = 0.0
    for k in range(force_w.shape[0]):
        if k == c or (near[c, k] == 1 and not alone):
            for e in range(3):
                total += force_w[k, e] * normal[e]
    return total > load

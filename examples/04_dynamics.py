"""Many frames at once: centre of mass, joint torques and the wrench that the ground must give."""

from __future__ import annotations

import numpy as np

import surefoot as sf
from surefoot.dynamics.batch import Batch
from surefoot.dynamics.wrench import required_wrench
from surefoot.motion.curves import even_times, rates, resample
from surefoot.samples import bundled

robot = sf.load_robot("human25")
motion = sf.retarget(bundled.load("sidestep"), robot).motion
time = even_times(motion.time[0], motion.time[-1], 200.0)
moving = rates(motion, time=time)
batch = Batch(robot, robot.qpos(resample(motion, time)), robot.qvel(moving), robot.qacc(moving))

wrench = required_wrench(batch, batch.link_pos_w[:, robot.link_id(robot.root_link)])
weight = 9.81 * robot.mass
print(f"{batch.n} samples; centre of mass at {batch.com_w[:, 2].mean():.3f} m on average")
share = wrench[:, 2] / weight
print(f"the ground carries {share.min():.2f} to {share.max():.2f} weights")
torque = np.abs(batch.inverse_dynamics()[:, robot.joint_dofadr])
worst = int(np.argmax(torque.max(axis=0)))
print(f"largest joint torque {torque.max():.0f} N m in {robot.joint_names[worst]}")

"""The whole walk, composed: from a clip to a folder with everything that was found out."""

from surefoot.journeys.compiling import compile_kernels as compile_kernels
from surefoot.journeys.demo import demo as demo
from surefoot.journeys.several import run as run
from surefoot.journeys.stations import Plan as Plan
from surefoot.journeys.stations import Walk as Walk
from surefoot.journeys.stations import retarget_figures as retarget_figures
from surefoot.journeys.stations import retargeted as retargeted

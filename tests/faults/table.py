"""Every fault that is planted by hand, by its name."""

from tests.faults.in_engines import IN_MINDSPORE, IN_ORACLE, IN_TORCH
from tests.faults.in_faces import IN_FACES
from tests.faults.in_measurements import IN_MEASUREMENTS, IN_THE_CORE

FAULTS = {
    fault.name: fault
    for fault in (*IN_THE_CORE, *IN_TORCH, *IN_ORACLE, *IN_MINDSPORE, *IN_MEASUREMENTS, *IN_FACES)
}

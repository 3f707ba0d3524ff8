"""A machine as one HTML page that needs no network: boxes, distances, domains, every figure."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from markupsafe import Markup

from schedlab.base.printable import printable_lines
from schedlab.machine import svg
from schedlab.machine.domains import Domain, listing
from schedlab.machine.drawing import counts
from schedlab.machine.figures import sections
from schedlab.machine.model import Machine
from schedlab.report.page import environment


def machine_page(
    machine: Machine, sources: Mapping[str, str], domains: Sequence[Domain] = (), kernel: str = ""
) -> str:
    """Return the page; with the domains that `kernel` built for some CPUs, the first one drawn."""
    drawn = next((list(of_cpu) for _, of_cpu in groupby(domains, lambda one: one.cpu)), [])
    return (
        environment()
        .get_template("machine.html.j2")
        .render(
            machine=machine,
            counts=counts(machine),
            topology=Markup(svg.topology(machine)),
            nodes=machine.topology.node_numbers or range(len(machine.topology.distance)),
            farthest=max((max(row) for row in machine.topology.distance), default=0),
            kernel=kernel,
            domains=drawn,
            spans=Markup(svg.domains(drawn, machine)) if drawn else "",
            listing=Markup.escape(printable_lines("\n".join(listing(domains)))),
            sections=sections(machine, sources),
        )
    )

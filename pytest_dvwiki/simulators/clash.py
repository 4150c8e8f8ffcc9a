"""Clash: generates HDL from a design in Haskell."""

from pytest_dvwiki.simulators.tool import Multiline, Tool

TOOL = Tool(
    name="clash",
    title="Clash",
    programs={"clash": None},
    # What failed is only in the line below, after the version of the compiler if there is one.
    multiline=(
        Multiline(head=r"Clash error call:$", ends_at=r"\s*CallStack", most=2),
        Multiline(head=r"[\w.-]{1,40}: panic! \(the 'impossible' happened\)$", ends_at=r"\s*CallStack", most=3),
    ),
)

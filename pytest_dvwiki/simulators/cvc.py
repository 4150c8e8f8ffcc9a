"""CVC: only its name is known."""

from pytest_dvwiki.simulators.tool import Tool

TOOL = Tool(name="cvc", title="CVC", banners=("cvc",))

"""An item, and a model's answers in the five rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ITEM = """description: Confirm that the netlist/SPEF version is correct.
input_files: ["logs/sta*.log", "logs/more.log"]
requirements: {value: N/A, pattern_items: []}
waivers: {value: N/A, waive_items: []}
"""
PATTERNS = ITEM.replace("{value: N/A, pattern_items: []}", "{value: 2, pattern_items: ['Genus|Innovus', '2023']}")

ANALYSIS = """1. Entities: netlist, SPEF file, version. The slash means both.
2. Kinds of information: whether a file was loaded, and by which version it was written.
3. Waivers: before extraction there is no SPEF file."""
SECTION1 = """## 1. Parsing Logic

### 1.1 Netlist

- **Purpose**: tells which tool wrote the netlist
- **Fields**:
  - `netlist.loaded`: text, the file that the timing tool read
  - `netlist.tool`: text, the tool in the header

### 1.2 SPEF

- **Purpose**: tells which tool extracted the parasitics
- **Fields**:
  - loaded: text, the file that the timing tool read
  - version: text, the program in the header

**Example**:

```python
parsed_fields = {
    "netlist": {"loaded": "top.v", "tool": "Genus 21.1"},
}
```"""
SECTION2 = """## 2. Check Logic

### 2.1 Netlist loading

- **Fields**: `netlist.loaded`
- **PASS**: the timing tool read a netlist

### 2.2 Netlist version

- **Complete when**: parsed_fields.netlist.tool is there and not empty
- **PASS**: the header names a tool

### 2.3 SPEF loading

- **Fields**: `spef.loaded`
- **PASS**: the timing tool read a SPEF file

### 2.4 SPEF version

- **Fields**: `spef.version`
- **PASS**: the header names a program

**Patterns**: none.

**Result**: passes where all four items pass. A file that is named and not there counts as missing."""
SECTION3 = """## 3. Waiver Logic

### 3.1 No parasitics yet

- **Item**: Items 2.3 and 2.4
- **Situation**: before placement nothing is extracted
- **Keywords**: "spef", "synthesis"

### 3.2 Netlist by hand

- **Item**: Netlist version
- **Situation**: a change by hand took the header away
- **Keywords**: `netlist`, `ECO`

**Modes**: with 0 every violation is accepted and shown."""
SECTION4 = """## 4. Implementation Guide

### 4.1 Sources

The log of the timing tool names both files; their headers name the versions.

### 4.2 Extraction

Date pattern: `\\d{4}-\\d{2}`

```yaml
items:
  - name: Netlist loading
    match: 'Reading netlist (?P<value>\\S+)'
    pattern: false
  - name: Netlist version
    match: '^// Generator: (?P<value>\\S+ \\S+)'
    from: Netlist loading
  - name: SPEF loading
    match: 'Reading spef (?P<value>\\S+)'
    pattern: false
  - name: SPEF version
    match: '^\\*PROGRAM "(?P<value>[^"]*)"'
    from: SPEF loading
```

### 4.3 Special situations

#### Scenario 1: synthesis

- **Items**: 2.3, 2.4
- **Result**: missing
- **Waiver**: 3.1

#### Scenario 2: several netlists

- **Items**: 2.1-2.2
- **Result**: one entry for each file"""

ANSWERS = {
    "analysis": ANALYSIS,
    "section1": SECTION1,
    "section2": SECTION2,
    "section3": SECTION3,
    "section4": SECTION4,
}


def replies(**changed: str) -> list[str | Callable[[str], str]]:
    """Return the five answers between their tags; keyword arguments replace answers."""
    return [f"Here it is.\n<{tag}>\n{changed.get(tag, text)}\n</{tag}>\n" for tag, text in ANSWERS.items()]


def assembled(**changed: str) -> str:
    """Return a specification."""
    return "# ItemSpec: x\n\n" + "\n\n".join([*(ANSWERS | changed).values()][1:])

"""Stimulus that cocotb's seed does not repeat is recognised, and only that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_dvwiki.capture.simulations.unseeded import draws_unseeded

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "text",
    [
        "import numpy as np\nx = np.random.randint(0, 9)",
        "import numpy\nx = numpy.random.rand()",
        "import numpy.random\nx = numpy.random.rand()",
        "import numpy.random as npr\nx = npr.choice([1, 2])",
        "from numpy import random\nx = random.bytes(4)",
        "from numpy.random import randint as draw\nx = draw(9)",
        "from numpy.random import default_rng\nrng = default_rng()",
        "import numpy as np\nrng = np.random.default_rng(None)",
        "import numpy as np\nrng = np.random.Generator(np.random.PCG64())",
        "import numpy as np\nnp.random.seed()\nx = np.random.rand()",
        "import numpy as np\nnp.random.seed(1)\nrng = np.random.default_rng()",
        "import os, random\nseed = int(os.environ.get('SEED', '12345'))\nrandom.seed(seed)",
        "import os, random\nrng = random.Random(int(os.environ['TEST_SEED']))",
    ],
)
def test_it_is_drawn_without_a_seed(tmp_path: Path, text: str) -> None:
    (tmp_path / "drive.py").write_text(text)
    assert draws_unseeded(["drive.py"], tmp_path) == "drive.py"


@pytest.mark.parametrize(
    "text",
    [
        "import random\nx = random.randint(0, 9)",
        "import os, random\nrandom.seed(int(os.environ['COCOTB_RANDOM_SEED']))",
        "import os, random\nrandom.seed(int(os.getenv('RANDOM_SEED', '1')))",
        "import os, random\nprint(os.getenv('SEED'))\nrandom.seed(42)",
        "import cocotb, random\nrandom.seed(cocotb.RANDOM_SEED)",
        "import numpy as np\nx = np.zeros(4)",
        "import numpy as np, cocotb\nnp.random.seed(cocotb.RANDOM_SEED)\nx = np.random.rand()",
        "import numpy as np\nrng = np.random.default_rng(seed=7)\nx = rng.integers(9)",
        "import numpy as np\nrng = np.random.RandomState(7)",
        "import numpy as np\nrng = np.random.Generator(np.random.PCG64(1))",
        "import numpy as np\n# np.random.rand()\nx = 'np.random.rand()'",
        "from .numpy import random\nx = random.rand()",
        "import numpy as np\nx = np.random.rand(",
    ],
)
def test_it_is_not(tmp_path: Path, text: str) -> None:
    (tmp_path / "drive.py").write_text(text)
    assert not draws_unseeded(["drive.py", "missing.py", "rtl/dut.sv"], tmp_path)


def test_a_seed_may_be_set_in_another_file(tmp_path: Path) -> None:
    for name, text in {"drive": "np.random.rand()", "setup": "np.random.seed(1)"}.items():
        (tmp_path / f"{name}.py").write_text(f"import numpy as np\n{text}\n")
    assert not draws_unseeded(["drive.py", "setup.py"], tmp_path)
    assert draws_unseeded(["drive.py"], tmp_path) == "drive.py"

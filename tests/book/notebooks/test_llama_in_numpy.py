"""Chapter 11's Llama in NumPy against `posenc.llama`: of any shape, and with the weights of SmolLM2-135M."""

import numpy as np
import pytest

from posenc.configs import released
from tests.book.notebooks.prose import __file__ as _here
from tools.execute import chapters
from tools.notebooks import joined, load

pytestmark = pytest.mark.torch

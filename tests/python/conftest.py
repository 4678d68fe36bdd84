"""What all tests of the program share."""


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "numbers: long, and about numbers alone; left out with sanitizers, where the C++ tests run the same code")

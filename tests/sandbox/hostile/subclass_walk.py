"""Get out of the language, to a function that starts programs, without importing anything."""

loaded = [each for each in object.__subclasses__() if each.__name__ == "_wrap_close"]
reach = loaded[0].__init__.__globals__
ended = reach["system"]("exit 7")
print("GOT a shell" if ended == 7 << 8 else "HELD", ended)

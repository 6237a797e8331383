"""Checks the first batch of each Kafka segment. Arguments: libbatchwise.so, then segments."""
import ctypes, pathlib, sys

class Error(ctypes.Structure):
    _fields_ = [("numbers", ctypes.c_uint64 * 5), ("field", ctypes.c_char * 48), ("message", ctypes.c_char * 208)]

check = ctypes.CDLL(sys.argv[1]).batchwise_kafka_check
check.argtypes = [ctypes.c_char_p, ctypes.c_size_t] + [ctypes.c_void_p] * 4
for path in sys.argv[2:]:
    data, summary, error = pathlib.Path(path).read_bytes(), (ctypes.c_uint64 * 4)(), Error()
    code = check(data, len(data), None, None, ctypes.byref(summary), ctypes.byref(error))
    print(path, error.message.decode() if code else f"{summary[1]} records from offset {summary[2]}")

"""Serves a GGUF model with llama.cpp's own HTTP server, which the xllamacpp wheel carries as a library.

usage: llama_server.py SITE_DIR MODEL PORT
"""

import os
import signal
import sys

site_dir, model, port = sys.argv[1:]
sys.path.insert(0, site_dir)

import xllamacpp  # noqa: E402

params = xllamacpp.CommonParams()
params.model.path = model
params.model_alias = {"smollm2"}
params.hostnames = ["127.0.0.1"]
params.port = int(port)
params.n_ctx = 4096
params.n_parallel = 2
params.n_batch = 256
params.cpuparams.n_threads = 2
params.cpuparams_batch.n_threads = 2
# Beside chats, not instead of them.
params.embedding = True
params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
params.endpoint_slots = True
params.endpoint_metrics = True
params.ui = False

# Before the threads of the server start, so that all of them leave these two to us.
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
server = xllamacpp.Server(params)
signal.sigwait({signal.SIGTERM, signal.SIGINT})
# Its threads do not end while a request runs; nothing here needs a tidy end.
os._exit(0)

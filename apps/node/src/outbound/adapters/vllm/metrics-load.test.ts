import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseLoad } from './metrics-load.ts';

const vllm = `# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="a } 9"} 3.0
vllm:num_requests_running{engine="1",model_name="a } 9"} 2.0
vllm:num_requests_waiting{engine="0",model_name="a"} 1.0
vllm:num_requests_waiting{engine="1",model_name="a"} 7.0 1700000000000
vllm:num_requests_waiting_by_reason{engine="0",reason="capacity"} 8.0
vllm:kv_cache_usage_perc{engine="0",model_name="a"} 0.5
vllm:kv_cache_usage_perc{engine="1",model_name="a"} 0.253
vllm:num_requests_running_total{engine="0"} 99.0
`;

describe('load from metrics', () => {
  it('of vLLM is the sum of its engines, and the mean of their caches', () => {
    assert.deepEqual(parseLoad(vllm), { running: 5, waiting: 8, cacheUse: 0.38 });
  });

  it('is read under older and newer names', () => {
    const text = 'vllm:num_requests_running 1\nvllm:num_requests_waiting_by_reason{reason="a"} 2\n';
    assert.deepEqual(parseLoad(text), { running: 1, waiting: 2 });
    assert.deepEqual(parseLoad('vllm:num_requests_running 1\r\nvllm:gpu_cache_usage_perc 1e0'), {
      running: 1,
      waiting: 0,
      cacheUse: 1,
    });
  });

  it('is read from llama.cpp and SGLang', () => {
    const llama =
      'llamacpp:requests_processing 2\nllamacpp:requests_deferred 5\nllamacpp:kv_cache_usage_ratio 0.111\n';
    assert.deepEqual(parseLoad(llama), { running: 2, waiting: 5, cacheUse: 0.11 });
    const sglang =
      'sglang:num_running_reqs{model_name="m"} 4.0\nsglang:num_queue_reqs 1.0\nsglang:token_usage 0.9\n';
    assert.deepEqual(parseLoad(sglang), { running: 4, waiting: 1, cacheUse: 0.9 });
  });

  it('is nothing where nothing of it is said', () => {
    for (const text of [
      '',
      '{"data":[]}',
      'http_requests_total 3',
      'vllm:num_requests_running NaN',
      'x'.repeat(99),
    ]) {
      assert.equal(parseLoad(text), undefined);
    }
    assert.deepEqual(parseLoad('vllm:num_requests_running 1\nvllm:kv_cache_usage_perc NaN'), {
      running: 1,
      waiting: 0,
    });
  });
});

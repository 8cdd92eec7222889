import { test } from 'node:test';
import { fuzzDecode } from './testing/fuzz-scene.ts';

test('1 000 000 random and mutated bodies are read or refused as malformed, nothing else (F16)', () => {
  fuzzDecode(1_000_000);
});

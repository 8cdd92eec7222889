import { fuzzDecodeTest } from './testing/fuzz-scene.ts';

fuzzDecodeTest(1_000_000);

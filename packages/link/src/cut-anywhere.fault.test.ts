import { cutOnSocketsTest } from './testing/cut-anywhere-scene.ts';

cutOnSocketsTest(1);

import { cutInMemoryTest, cutOnSocketsTest } from './testing/cut-anywhere-scene.ts';

cutInMemoryTest();
cutOnSocketsTest(19);

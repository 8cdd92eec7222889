import { killedNodeScene } from '../testing/killed-node-scene.ts';

killedNodeScene(6);

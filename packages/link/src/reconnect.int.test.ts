import { reconnectTest } from './testing/reconnect-scene.ts';

reconnectTest(1_500);

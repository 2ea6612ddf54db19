import { okAsync } from 'neverthrow';

// expected: typescript/no-floating-promises
okAsync('a plant').map((plant) => plant.length);

/** The cases of the repository contract, for every other copy of a plant: columns, formats, responses. */
export { complete, similarPlants } from '../../packages/core/src/contract-plants.ts';

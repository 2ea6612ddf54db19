export { isBearerToken } from './bearer-token.ts';
export { decodeBody, type BodyUndecodable } from './decode-body.ts';
export { encodeNewPlant, isExactId, type PlantId } from './encode-new-plant.ts';

/**
 * `@plantstore/core/wire`: a plant as JSON, and what else both ends of the wire must agree on. Without zod.
 *
 * @module
 */

export { isBearerToken } from './bearer-token.ts';
export { decodeBody, type BodyUndecodable } from './decode-body.ts';
export { encodeNewPlant, isExactId, type PlantId } from './encode-new-plant.ts';

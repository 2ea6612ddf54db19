/**
 * `@plantstore/core/wire`: the operation, the JSON of a plant and the syntax of a bearer token.
 *
 * @module
 */

export type { Result } from 'neverthrow';
export { isBearerToken } from './bearer-token.ts';
export { decodeBody, type BodyUndecodable } from './decode-body.ts';
export { operation } from './operation.ts';
export { isExactId, type PlantId } from './exact-id.ts';
export {
  contentNames,
  copyPlant,
  differingMember,
  encodeNewPlant,
  encodePlant,
  fromTexts,
  invalidMember,
  isRequired,
  memberNames,
  type Texts,
  textLength,
  toTexts,
  withoutId,
} from './plant-members.ts';

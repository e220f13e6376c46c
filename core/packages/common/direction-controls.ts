/**
 * Controls that turn a text around: embeddings, overrides and isolates (Unicode Standard Annex 9). Nobody sees them, and they come along
 * where a name or a number is copied from elsewhere. The two marks of direction are none of them.
 */
const directionControls = /[\u202a-\u202e\u2066-\u2069]/g

/** A text in the order in which it was written. */
export function withoutDirectionControls (text: string): string {
  return text.replace(directionControls, '')
}

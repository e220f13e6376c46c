/** How a template refers to a picture of its company: `asset:<name>`. */
const named = /^asset:(.*)$/s

/** The name of the company's picture, if the text refers to one. */
export function assetName (asset: string): string | undefined {
  return named.exec(asset)?.[1]
}

const schemes = /^(https?:\/\/|mailto:|tel:)/i

/** What no address contains, and what would end it in the middle of a text. */
const unsafe = /[\s\p{Cc}"<>\\^`]/gu

/** An address of the web, mail or telephone with its unsafe characters encoded; undefined for any other, such as `javascript:`. */
export function safeLinkOf (url: string): string | undefined {
  return schemes.test(url) ? url.replace(unsafe, encodeURIComponent) : undefined
}

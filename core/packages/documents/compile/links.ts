const schemes = /^(https?:\/\/|mailto:|tel:)/i

/** Characters that no URL contains, and characters that would end it in the middle of a text. */
const unsafe = /[\s\p{Cc}"<>\\^`]/gu

/** A web, mail or telephone URL with its unsafe characters encoded; undefined for any other one, such as `javascript:`. */
export function safeLinkOf (url: string): string | undefined {
  return schemes.test(url) ? url.replace(unsafe, encodeURIComponent) : undefined
}

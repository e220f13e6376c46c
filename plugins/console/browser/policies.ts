/** Nothing comes from another host, no text becomes markup or script, and no page is framed. */
const closed = [
  'default-src \'none\'',
  'style-src \'self\'',
  'script-src \'self\'',
  'connect-src \'self\'',
  'img-src data:',
  'form-action \'self\'',
  'base-uri \'none\'',
  'frame-ancestors \'none\'',
  'require-trusted-types-for \'script\'',
  'trusted-types \'none\''
].join('; ')

/** The content security policies of pages. `framing`: a page that shows a preview in a frame. */
export const policies = { closed, framing: `${closed}; frame-src 'self'` } as const

import type { Format, Rendered, Renderer, RenderJob } from '@dispatch/documents'

const quick: Rendered<'pdf'> = { bytes: Buffer.from('%PDF-1.7 quick'), contentType: 'application/pdf', pages: 1, signatures: [] }
const quickMail: Rendered<'html'> = { html: '<p>quick</p>', text: 'quick', inline: [] }

/** Makes the smallest document or mail at once, for tests about everything but documents. */
export const quickRenderer: Pick<Renderer, 'close'> & {
  render: <F extends Format>(job: RenderJob<F>) => Promise<Rendered<F>>
} = {
  render: <F extends Format>(job: RenderJob<F>) => Promise.resolve((job.format === 'html' ? quickMail : quick) as unknown as Rendered<F>),
  close: () => Promise.resolve()
}

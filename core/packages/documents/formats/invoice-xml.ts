import type { Maker } from './format.ts'

/** An e-invoice that is XML alone: no page of the template is made. */
export const make: Maker<{ bytes: Uint8Array<ArrayBuffer> }> = (_page, { xml }) => ({ bytes: new TextEncoder().encode(xml) })

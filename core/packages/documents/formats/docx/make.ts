import { renderDocx } from '../../render/docx.ts'
import type { Maker } from '../format.ts'

export const make: Maker<{ bytes: Uint8Array<ArrayBuffer> }> = (page, { now }) => ({ bytes: renderDocx(page(), now) })

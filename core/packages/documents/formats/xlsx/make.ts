import { renderXlsx } from '../../render/xlsx.ts'
import type { Maker } from '../format.ts'

export const make: Maker<{ bytes: Uint8Array<ArrayBuffer> }> = (page, { now }) => ({ bytes: renderXlsx(page(), now) })

import type { Pdf } from '../../render/pdf.ts'
import type { Maker } from '../format.ts'
import { showablePdf } from '../showable-pdf.ts'

export const make: Maker<Pdf> = (page, making) => showablePdf(page(), making, making.archival ? {} : undefined)

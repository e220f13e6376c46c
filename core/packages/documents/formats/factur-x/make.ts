import type { Pdf } from '../../render/pdf.ts'
import { showablePdf } from '../../render/showable-pdf.ts'
import type { Maker } from '../format.ts'

export const make: Maker<Pdf> = (page, making) => showablePdf(page(), making, { invoice: making })

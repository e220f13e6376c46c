import { cii } from './cii/index.ts'
import { docx } from './docx/index.ts'
import { facturX } from './factur-x/index.ts'
import { html } from './html/index.ts'
import { pdf } from './pdf/index.ts'
import { text } from './text/index.ts'
import { ubl } from './ubl/index.ts'
import { xlsx } from './xlsx/index.ts'

/** The one list of formats, in the order of every list. Each is a folder beside this file; all else is derived. */
export const formats = { pdf, docx, xlsx, 'factur-x': facturX, ubl, cii, html, text }

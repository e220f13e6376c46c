import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'

const bytes = readFileSync(new URL('console.css', import.meta.url))

/** The style of all pages. Its address has a part of its hash: browsers keep it until it changes. */
export const stylesheet = { bytes, path: `/console/${hash('sha256', bytes).slice(0, 12)}.css` }

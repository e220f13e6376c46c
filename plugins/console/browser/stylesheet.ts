import { readFileSync } from 'node:fs'
import { assetOf } from './asset.ts'

/** The style of all pages. */
export const stylesheet = assetOf(readFileSync(new URL('console.css', import.meta.url)), '/console', 'css')

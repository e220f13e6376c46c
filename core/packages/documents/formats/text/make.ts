import { renderText } from '../../render/text.ts'
import type { Maker } from '../format.ts'

/** A message, such as an SMS. */
export const make: Maker<{ text: string }> = (page) => ({ text: renderText(page()) })

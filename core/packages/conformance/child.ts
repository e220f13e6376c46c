/**
 * The process of `in-child.ts`: it is sent a folder and the options, and answers each step of the kit, signs of life, and at last the
 * report.
 */
import { runConformance } from './conformance.ts'
import type { FromChild, ToChild } from './in-child.ts'

/** Milliseconds between two signs of life. */
const beatEvery = 250

const tell = (message: FromChild): void => void process.send?.(message)

tell({})
const { folder, options } = await new Promise<ToChild>((resolve) => process.once('message', (message) => resolve(message as ToChild)))
setInterval(() => tell({}), beatEvery)
process.once('disconnect', () => process.exit())
tell({ report: await runConformance(folder, { ...options, onStep: (step) => tell({ step }) }) })

/**
 * The process of `in-child.ts`: it is sent a folder and the options, and answers each step of the kit, signs of life, and at last the
 * report.
 */
import { once } from 'node:events'
import { runConformance } from './conformance.ts'
import type { FromChild, ToChild } from './in-child.ts'

/** Milliseconds between two signs of life. */
const beatEvery = 250

const tell = (message: FromChild): void => void process.send?.(message)

const asked = once(process, 'message')
tell({})
const [{ folder, options }] = await asked as [ToChild]
setInterval(() => tell({}), beatEvery)
process.once('disconnect', () => process.exit())
tell({ report: await runConformance(folder, { ...options, onStep: (step) => tell({ step }) }) })

import type { RegExpEngine } from 'ajv/dist/types/index.js'
import { type Context, createContext, Script } from 'node:vm'
import { lazy } from './once.ts'
import { patternFault } from './patterns.ts'
import { vocabularies } from './vocabulary.ts'

/** Milliseconds of processor time in which a text is found to fit or not, and how many times a schema may need longer. */
const [longest, maxLong] = [100, 3]
/** Characters of a text on which a pattern without a fault ends at once: it takes the third power of them at most. */
const short = 200

/** How many times the patterns of a schema may still need longer. */
type Budget = { left: number }

/** The schema of somebody else that is being compiled: Ajv tells its patterns nothing of it. */
let compiling: Budget | undefined

/**
 * Compiles a schema of somebody else, whose patterns then take this thread some 300 milliseconds of processor time in all. Where a pattern
 * may need long, because of its form (`patternFault`) or of a long text, it is tried for 100 milliseconds; what is not decided by then does
 * not fit, and after the third such text nothing fits that may need long. Such a try costs about 0.1 milliseconds, others nothing.
 */
export function withBoundedPatterns<T> (compile: () => T): T {
  const outer = compiling
  compiling = { left: maxLong }
  try {
    return compile()
  } finally {
    compiling = outer
  }
}

/** The patterns of the vocabularies, which may be compiled for a schema that refers to them. */
const ownPatterns = lazy(() =>
  new Set(JSON.stringify(vocabularies).matchAll(/"pattern":("(?:\\.|[^"\\])*")/g).map(([, text = '""']) => String(JSON.parse(text))))
)

/** Makes the patterns of Ajv: a plain one, or a bounded one for a schema of somebody else. */
export const createPattern: RegExpEngine = Object.assign((source: string, flags: string) => {
  const pattern = new RegExp(source, flags)
  if (compiling === undefined || ownPatterns().has(source)) return pattern
  return bounded(pattern, patternFault(source) === undefined ? short : 0, compiling)
}, { code: 'new RegExp' })

let schemas = 0

function bounded (pattern: RegExp, easily: number, budget: Budget): { test: (text: string) => boolean, toString: () => string } {
  // Ajv takes one pattern for another that is written alike, also that of another schema.
  const name = `${String(pattern)} of ${++schemas}`
  return { test: (text) => text.length <= easily ? pattern.test(text) : fits(pattern, text, budget), toString: () => name }
}

let alone: { script: Script, context: Context } | undefined

/**
 * V8 ends a search in which a script has used up its time. The script is this one, whatever the pattern and the text are. Only processor
 * time of this thread counts: on a busy machine the pattern is not at fault that it waits for its turn, and is tried again.
 */
function fits (pattern: RegExp, text: string, budget: Budget): boolean {
  if (budget.left === 0) return false
  const { script, context } = alone ??= { script: new Script('pattern.test(text)'), context: createContext({ __proto__: null }) }
  Object.assign(context, { pattern, text })
  for (let spent = 0; spent < longest;) {
    const begun = process.threadCpuUsage()
    try {
      return script.runInContext(context, { timeout: longest }) === true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    }
    const { user, system } = process.threadCpuUsage(begun)
    spent += (user + system) / 1_000
  }
  budget.left--
  return false
}

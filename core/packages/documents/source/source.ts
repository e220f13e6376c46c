import { Check } from 'typebox/value'
import { compileTemplate } from '../compile/compile.ts'
import { type Fault, TemplateError } from '../model/errors.ts'
import { templateModel, type TemplateSource } from '../model/model.ts'
import { explain } from './explain.ts'
import { unknownPathFaults } from './schema-paths.ts'
import { type LocateFault, readYaml } from './yaml.ts'

/** Reads the text of a template.yaml and checks it against the model for these services. The TemplateError names the `file`. */
export function readSource (yaml: string, file: string, services: readonly string[]): { source: TemplateSource, place: LocateFault } {
  const { value, place } = readYaml(yaml, file)
  const model = templateModel(services)
  if (Check(model, value)) return { source: value, place }
  throw new TemplateError(explain(model, value).map(place))
}

/** Compiles a template once to find the faults of its expressions: those of the words, then those against the schema of the data. */
export function checkExpressions (source: TemplateSource, schema: Record<string, unknown>, place: LocateFault): void {
  const faults = expressionFaults(source, schema)
  if (faults.length > 0) throw new TemplateError(faults.map(place))
}

function expressionFaults (source: TemplateSource, schema: Record<string, unknown>): readonly Fault[] {
  try {
    return unknownPathFaults(schema, compileTemplate(source).reads)
  } catch (error) {
    if (error instanceof TemplateError) return error.faults
    throw error
  }
}

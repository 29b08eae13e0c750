/**
 * How often a property is tried: as often as its test says, from the same start each time, or as `npm run property` asks
 * for, which searches on from chance. The environment is how the command reaches the tests.
 */
export function runs(usual: number, where: 'pure' | 'database' = 'pure'): { numRuns: number; seed?: number } {
  const { PROPERTY_RUNS, PROPERTY_DATABASE_RUNS, PROPERTY_SEED } = process.env
  const asked = where === 'pure' ? PROPERTY_RUNS : PROPERTY_DATABASE_RUNS
  return {
    numRuns: asked === undefined ? usual : Number(asked),
    ...(PROPERTY_SEED === undefined && asked !== undefined ? {} : { seed: Number(PROPERTY_SEED ?? 1) }),
  }
}

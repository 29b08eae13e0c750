/** What a worker has counted since it was made. All grow only, save `running` and `waiting`, which say how it is now. */
export interface EffectCounts {
  /** Rows leased, each lease counted. */
  leased: number
  /** Delivered and acknowledged. */
  delivered: number
  /** Attempts that failed, whatever followed. */
  failed: number
  /** Declared dead: the attempt limit was reached, or the handler gave up. */
  dead: number
  /** A handler said that it need not be done. */
  discarded: number
  /** Level effects not sent because a newer revision was written. */
  superseded: number
  /** Leased and given back untried. */
  given_back: number
  /** Leases found lost while or after delivering: the effect may have been delivered twice. */
  lost_leases: number
  /** Statements that failed: taking, renewing, acknowledging. */
  database_errors: number
  /** Being delivered now. */
  running: number
  /** Leased, not begun. */
  waiting: number
}

export function noCounts(): EffectCounts {
  return {
    leased: 0,
    delivered: 0,
    failed: 0,
    dead: 0,
    discarded: 0,
    superseded: 0,
    given_back: 0,
    lost_leases: 0,
    database_errors: 0,
    running: 0,
    waiting: 0,
  }
}

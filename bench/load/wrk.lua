-- Sends the requests of a file in order, and begins anew at its end. The file holds, per request, its length, a newline and its bytes.
local requests = {}
sent = 0
local verified = false
local threads = {}

function setup(thread)
  threads[#threads + 1] = thread
end

function init(args)
  local file = assert(io.open(args[1], "rb"))
  for length in file:lines() do
    requests[#requests + 1] = file:read(tonumber(length))
  end
  file:close()
end

function request()
  -- wrk asks once before it connects, to look at the request; that one is never sent.
  if not verified then
    verified = true
    return requests[1]
  end
  if sent == 0 then io.stderr:write("started\n") end
  sent = sent + 1
  return requests[(sent - 1) % #requests + 1]
end

function done(summary, latency)
  local thread = threads[1]
  local errors = summary.errors
  io.stderr:write(string.format(
    '{"sent":%d,"answered":%d,"not_ok":%d,"lost":%d,"duration_ms":%.3f,"p50_ms":%.3f,"p99_ms":%.3f,"max_ms":%.3f}\n',
    thread:get("sent"), summary.requests, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout, summary.duration / 1000,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000))
end

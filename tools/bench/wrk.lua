-- The wrk script of tools/bench/generator.py: sends the requests of a file in an endless loop, starting
-- after a given index. In the file, a line with its length precedes each request.

local requests, place = {}, 0

function init(arguments)
  local file = assert(io.open(arguments[1], "rb"))
  for length in function() return file:read("*l") end do
    requests[#requests + 1] = file:read(tonumber(length))
  end
  file:close()
  place = tonumber(arguments[2])
end

function request()
  place = place % #requests + 1
  return requests[place]
end

function done(summary, latency, _)
  local lost = summary.errors.connect + summary.errors.read + summary.errors.write
      + summary.errors.timeout
  io.write(string.format(
    '\n{"answers": %d, "seconds": %f, "refused": %d, "lost": %d, "p50_ms": %f, "p99_ms": %f}\n',
    summary.requests, summary.duration / 1e6, summary.errors.status, lost,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end

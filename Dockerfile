# Parlour from its wheel, which has the page for browsers already: docs/how-to/host-a-server.md#in-a-container
FROM python:3.13-slim

RUN --mount=type=bind,source=dist,target=/dist --mount=type=bind,source=requirements.lock,target=/requirements.lock \
    pip install --no-cache-dir --constraint /requirements.lock /dist/parlour-*.whl \
    && useradd --uid 1000 --no-create-home parlour \
    && install --directory --owner parlour --mode 700 /data

ENV PARLOUR_HOST=0.0.0.0 PARLOUR_PORT=8000 PARLOUR_DATA=/data
USER 1000
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import os, urllib.request as u; u.urlopen(f\"http://127.0.0.1:{os.environ['PARLOUR_PORT']}/health\")"]
ENTRYPOINT ["parlour"]
CMD ["serve"]

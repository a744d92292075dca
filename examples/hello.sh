#!/bin/bash
# ROPEWALK ntasks 3
echo "Hello from task $ROPEWALK_BATCH_TASK_ID"
